-- When a replica of the run endpoint of the installation last worked. While none does, pods cannot report, and their silence does not
-- count against them (controllers/job/deadlines.ts). Null: there has been none of this release.
alter table installations add column runs_seen_at timestamptz;
