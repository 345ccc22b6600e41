// The form of a time in answers of the API and in Kubernetes objects. Used by tests that cannot know the time itself.
export const rfc3339 = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d+)?Z$/;
