-- Locks of work that does not fit into one transaction (src/db/lease.ts). A row exists only while its holder works, or for
-- some seconds after its holder crashed and until the next one takes it.
create table leases (
  tenant_id uuid not null references tenants (id) on delete cascade,
  id uuid not null,
  holder uuid not null,
  expires_at timestamptz not null,
  primary key (tenant_id, id)
);
select isolate_tenant('leases', 'select, insert, update, delete', '');
