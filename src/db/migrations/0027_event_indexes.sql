-- online
drop index concurrently if exists events_numbers;
create unique index concurrently events_numbers on events (tenant_id, seq);
drop index concurrently if exists events_of_tenant;
-- Where forget_events() looks.
drop index concurrently if exists events_age;
create index concurrently events_age on events (created_at);
