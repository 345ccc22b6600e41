// Where objects lie in the bucket. No name that a user chose is ever a part of a key. Used by src/api and controllers.

/** Where a client uploads to; the only keys that upload forms are signed for. */
export const incomingKey = (tenantId: string, id: string) => `incoming/${tenantId}/${id}`;
/** Audio of a dataset after it was confirmed. */
export const audioKey = (tenantId: string, audioFileId: string) => `audio/${tenantId}/${audioFileId}`;
/** Audio of an inference job after it was confirmed. */
export const inferenceKey = (tenantId: string, fileId: string) => `inference/${tenantId}/${fileId}`;
