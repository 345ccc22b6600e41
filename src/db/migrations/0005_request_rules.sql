-- What requests may ask of every route: to see whether something has changed, and to be sent again without harm.

-- Goes up with every change of the set, its annotations and its reviewed marks: the set's ETag. The update is also the
-- lock under which all of them are written, so that writers of one set take turns.
alter table annotation_sets add column revision bigint not null default 1;

-- What a POST with an Idempotency-Key made, written in the same transaction. `scope` is the digest of method, path and
-- key, `fingerprint` that of the input. Kept for 24 hours.
create table idempotency_keys (
  tenant_id uuid not null references tenants (id) on delete cascade,
  scope bytea not null check (length(scope) = 32),
  fingerprint bytea not null check (length(fingerprint) = 32),
  created_ids uuid[] not null,
  created_at timestamptz not null default now(),
  primary key (tenant_id, scope)
);
create index idempotency_keys_age on idempotency_keys (created_at);
select isolate_tenant('idempotency_keys', 'select, insert, update', 'select, delete');
