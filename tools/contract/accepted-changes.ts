// Changes that oasdiff reports as breaking but are not, each with a reason. Read by breaking.ts. Every release empties
// the list, except for the first entry, which is a rule of version 1.

interface Accepted {
  readonly id: string;
  /** Limits the entry to changes whose text matches; otherwise it applies to all with this id. */
  readonly text?: RegExp;
  readonly reason: string;
}

export const accepted: readonly Accepted[] = [
  {
    id: "response-property-enum-value-added",
    reason:
      "Version 1 may add values for states and errors: its documentation tells clients to expect unknown values",
  },

  {
    id: "response-property-any-of-added",
    text: /added `#\/components\/schemas\/ModelMetrics` to the `(items\/items\/)?metrics` response property/,
    reason:
      "Metrics were described as any object or null; now the description has their actual members, or null",
  },

  // Since 0.1.0 the description contains limits that the service enforced before.
  {
    id: "request-parameter-max-length-set",
    text: /request parameter `\w+_id`, the maxLength was set to `36`$/,
    reason: "The pattern already required UUIDs, which have 36 characters",
  },
  {
    id: "request-property-max-length-set",
    text: /_ids?(\/[^`]*)?` request property's maxLength was set to `36`$/,
    reason: "The same for ids in bodies",
  },
  {
    id: "request-property-max-length-set",
    text: /(checksum_sha256|artifact_types?|artifact_types\/items\/name|artifact_types\/[^`]+|thresholds\/propertyNames\/)` request property's maxLength was set to `64`$/,
    reason: "The patterns of digests and of names of artifact types allow 64 characters",
  },
  {
    id: "request-property-min-length-set",
    text: /checksum_sha256` request property's minLength was set to `64`$/,
    reason: "The pattern of digests requires 64 characters",
  },
  {
    id: "request-property-max-length-set",
    text: /`expires_at\/[^`]+` request property's maxLength was set to `64`$/,
    reason: "Times with 40 fractional digits were accepted, but no client sends them: 9 digits are usual",
  },
  {
    id: "request-property-max-properties-set",
    text: /`(files\/items\/)?metadata` request property's maxProperties was set to `16`$/,
    reason: "More than 16 pairs were rejected before",
  },
  {
    id: "request-property-max-properties-set",
    text: /`config\/thresholds` request property's maxProperties was set to `64`$/,
    reason: "A model has at most 64 types, and thresholds of other types were rejected before",
  },
  {
    id: "request-property-max-properties-set",
    text: /`(annotations\/items\/)?extra_data` request property's maxProperties was set to `256`$/,
    reason:
      "A real limit, new since 0.1.0: with a thousand labels of small objects one account took the memory of the API (CHANGELOG.md)",
  },
  {
    id: "request-parameter-type-changed",
    text: /the `format` was changed from `none` to `int(32|64)`$/,
    reason: "The limits of the numbers are unchanged; the format only names a type that can hold them",
  },
  {
    id: "request-property-type-changed",
    text: /`format` changed from `none` to `int(32|64)`$/,
    reason: "The same for numbers in bodies",
  },
  {
    id: "response-property-property-names-removed",
    reason: "`propertyNames: {type: string}` has no effect: names of members are always strings",
  },
  { id: "response-body-property-names-removed", reason: "The same for whole bodies" },
  {
    id: "response-property-list-of-types-widened",
    text: /widened by adding types `null`/,
    reason: "The members could be null before: `anyOf` with null became `type: [.., null]`",
  },
  {
    id: "response-property-any-of-added",
    text: /`detail\/items\/loc\/items\/` response property/,
    reason:
      "Strings and integers as before: a list of types became `anyOf`, because one of them has a limit now",
  },
  {
    id: "response-property-schema-became-not-false",
    text: /`series\/items\/points\/items\/items\/`/,
    reason:
      "Points are pairs of numbers as before; `items` replaced `prefixItems`, because more tools support it",
  },
  {
    id: "response-property-prefix-items-removed",
    text: /`series\/items\/points\/items\/`/,
    reason: "The same",
  },
];
