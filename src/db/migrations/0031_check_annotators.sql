-- online
alter table annotations validate constraint annotations_annotator;
