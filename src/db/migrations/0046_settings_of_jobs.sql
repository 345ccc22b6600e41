-- How a job runs: profile, priority, queue, retry budgets, deadlines. Only jobs whose custom resource somebody applied or retried
-- with kubectl have it. A retry keeps it. Null: the settings that the API gives all its jobs.
alter table training_jobs add column settings jsonb;
alter table inference_jobs add column settings jsonb;
