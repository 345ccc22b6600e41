-- online
-- Lists and the quota count keys that are not revoked. Revoked ones stay, and an account may make ten a minute.
drop index concurrently if exists api_keys_open;
create index concurrently api_keys_open on api_keys (tenant_id, created_at desc, id desc) where revoked_at is null;
-- The events of one tenant in their order, and the next tenant that has any (0050).
drop index concurrently if exists event_inbox_turns;
create index concurrently event_inbox_turns on event_inbox (tenant_id, id);
