-- The number of a deleted draft is not given again: the dataset remembers the last one.
alter table datasets add column last_annotation_set_version int not null default 0;
update datasets d set last_annotation_set_version = s.version
from (select dataset_id, max(version) as version from annotation_sets group by dataset_id) s
where s.dataset_id = d.id;
