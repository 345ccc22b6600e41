-- What is left under the incoming key of a confirmed upload: nothing, as a rule. But a form can be posted again until it
-- expires, and a process may end between the confirm and its tidying up. Both would keep an object that no quota counts
-- for as long as the file lives, so the leader looks there once more when the form is dead (0006: leftovers).

create function leave_confirmed() returns trigger language plpgsql security definer as $$
begin
  insert into leftovers (tenant_id, kind, target, at_once, try_at)
  values (new.tenant_id, 'upload', new.id, true, after_upload(new.created_at, true));
  return null;
end $$;
create trigger audio_files_confirmed after update of status on audio_files
  for each row when (old.status = 'pending_upload' and new.status = 'processing') execute function leave_confirmed();
create trigger inference_files_confirmed after update of status on inference_files
  for each row when (old.status = 'pending_upload' and new.status = 'queued') execute function leave_confirmed();

-- What runs as the owner finds its tables here and nowhere else, whatever the caller's search_path is.
do $$ begin
  execute format('alter function leave_confirmed set search_path = pg_catalog, %I, pg_temp', current_schema());
end $$;
revoke execute on function leave_confirmed from public;
