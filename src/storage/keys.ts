// The keys of objects in the bucket. A key never contains a name that a user chose. Used by src/api and controllers.

/** The key that a client uploads to. Upload forms are presigned for these keys only. */
export const incomingKey = (tenantId: string, id: string) => `incoming/${tenantId}/${id}`;
/** The key of an audio file of a dataset after it is confirmed. */
export const audioKey = (tenantId: string, audioFileId: string) => `audio/${tenantId}/${audioFileId}`;
/** The key of an audio file of an inference job after it is confirmed. */
export const inferenceKey = (tenantId: string, fileId: string) => `inference/${tenantId}/${fileId}`;
