// What oasdiff calls breaking and is not, each with its reason. Read by breaking.ts. Emptied with every release, except
// for the first entry, which is a rule of version 1.

interface Accepted {
  readonly id: string;
  /** All of them, or those whose text fits. */
  readonly text?: RegExp;
  readonly reason: string;
}

export const accepted: readonly Accepted[] = [
  {
    id: "response-property-enum-value-added",
    reason:
      "Words for states and errors may be added in version 1: clients are told to expect ones they do not know",
  },

  {
    id: "response-property-any-of-added",
    text: /added `#\/components\/schemas\/ModelMetrics` to the `(items\/items\/)?metrics` response property/,
    reason: "Metrics were described as any object or null, and now as what they always held, or null",
  },

  // Since 0.1.0 the description says what the service did before already.
  {
    id: "request-parameter-max-length-set",
    text: /request parameter `\w+_id`, the maxLength was set to `36`$/,
    reason: "Ids were UUIDs by their pattern, which has 36 characters",
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
    reason: "The pattern of digests asks for 64 characters",
  },
  {
    id: "request-property-max-length-set",
    text: /`expires_at\/[^`]+` request property's maxLength was set to `64`$/,
    reason:
      "A time with 40 digits behind the second's point was accepted, but never sent by anyone: 9 are common",
  },
  {
    id: "request-property-max-properties-set",
    text: /`(files\/items\/)?metadata` request property's maxProperties was set to `16`$/,
    reason: "More than 16 pairs were refused before",
  },
  {
    id: "request-parameter-type-changed",
    text: /the `format` was changed from `none` to `int(32|64)`$/,
    reason: "The limits of the numbers are as they were; the format names the type that holds them",
  },
  {
    id: "request-property-type-changed",
    text: /`format` changed from `none` to `int(32|64)`$/,
    reason: "The same for numbers in bodies",
  },
  {
    id: "response-property-property-names-removed",
    reason: "`propertyNames: {type: string}` says nothing: names of members are strings",
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
      "Points are pairs of numbers as before; `prefixItems` became `items`, which more tools understand",
  },
  {
    id: "response-property-prefix-items-removed",
    text: /`series\/items\/points\/items\/`/,
    reason: "The same",
  },
];
