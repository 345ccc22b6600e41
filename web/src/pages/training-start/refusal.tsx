// Why the service refuses a training: each failed precondition with the page where it can be met.
import { ApiError } from "../../app/api.ts";
import { href } from "../../app/base.ts";
import { Icon } from "../../components/icon.tsx";
import { Problem } from "../../components/states.tsx";
import { nextStepOf } from "./preconditions.ts";

export function Refusal({ error, datasetId }: { error: unknown; datasetId: string }) {
  if (!(error instanceof ApiError) || error.errors.length === 0)
    return <Problem attempted="Starting the training" error={error} />;
  return (
    <div class="problem" role="alert">
      <Icon name="error" />
      <div class="stack-tight">
        <p>
          <strong>The training cannot start yet.</strong>
        </p>
        <ul class="refusals">
          {error.errors.map(({ code, message }) => {
            const step = nextStepOf(code, datasetId);
            return (
              <li key={code + message}>
                <span class="break">{message}.</span>{" "}
                {step !== undefined && (
                  <a class="link" href={href(step.to)}>
                    {step.label}
                  </a>
                )}
              </li>
            );
          })}
        </ul>
      </div>
    </div>
  );
}
