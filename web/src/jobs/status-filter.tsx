// The filter of a list of jobs by their state, kept in the address.
import { query, setQuery } from "../app/router.ts";
import { oneOf } from "../app/table-state.ts";
import { Select } from "../components/field.tsx";
import { type JobStatus, statuses, statusWords, unfinished } from "./status.ts";

const choices = ["open", ...statuses] as const;

/** The states that the address asks for; undefined: all. "open" are those of jobs that have not ended. */
export function useStatuses(): { readonly choice: string; readonly wanted: JobStatus[] | undefined } {
  const choice = oneOf(query.value.get("status"), choices);
  if (choice === undefined) return { choice: "", wanted: undefined };
  return { choice, wanted: choice === "open" ? unfinished : [choice] };
}

export const StatusFilter = ({ choice }: { choice: string }) => (
  <Select
    label="Status"
    isLabelHidden
    value={choice}
    onValue={(status) => setQuery({ status, page: undefined })}
  >
    <option value="">All statuses</option>
    <option value="open">Not ended</option>
    {statuses.map((status) => (
      <option key={status} value={status}>
        {statusWords[status][1]}
      </option>
    ))}
  </Select>
);
