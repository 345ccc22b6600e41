// The schemas of request bodies that have forms. vite.config.ts takes them out of the REST description at build time.
declare module "virtual:request-schemas" {
  type Properties = Readonly<Record<string, import("./forms/schema-fields.ts").PropertySchema>>;
  /** Members of `config` in CreateTrainingJob. */
  export const trainingConfig: Properties;
  /** Members of `config` in CreateInferenceJob. */
  export const inferenceConfig: Properties;
}
