-- What the answer to a request with an Idempotency-Key said that no row can say again: the report of an import. Null where
-- the answer is rendered from what was made.
alter table idempotency_keys add column report jsonb;
