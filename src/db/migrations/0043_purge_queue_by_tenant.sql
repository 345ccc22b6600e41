-- online
-- The purge queue takes turns among tenants (src/db/operator/purge-queue.ts), so it looks for the next tenant, and for the due
-- entries of each. Operators of the previous release read the whole queue for each batch until they are replaced.
drop index concurrently if exists leftovers_at_once_of_tenant;
create index concurrently leftovers_at_once_of_tenant on leftovers (tenant_id, try_at) where at_once;
drop index concurrently if exists leftovers_after_grace_of_tenant;
create index concurrently leftovers_after_grace_of_tenant on leftovers (tenant_id, created_at) where not at_once;
drop index concurrently if exists leftovers_at_once;
drop index concurrently if exists leftovers_after_grace;
