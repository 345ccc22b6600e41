-- Who made an annotation, and when it was last changed (null: never, so that existing rows need no rewrite).
alter table annotations add column annotator text, add column updated_at timestamptz;
alter table annotations add constraint annotations_annotator
  check (char_length(annotator) between 1 and 255) not valid;
