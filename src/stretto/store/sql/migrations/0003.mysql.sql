-- Made by scripts/generate.py from scripts.schema; change the tables there.
CREATE INDEX run_uuid ON run (uuid, listed_at);
CREATE INDEX time_trigger_next ON time_trigger (next_fire_at, trigger_id);
