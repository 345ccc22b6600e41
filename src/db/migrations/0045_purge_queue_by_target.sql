-- online
-- Adoption asks whether the resource of a deleted job is in the purge queue, which may be long.
drop index concurrently if exists leftovers_resources;
create index concurrently leftovers_resources on leftovers (target) where kind = 'resource' and at_once;
