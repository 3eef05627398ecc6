/** The newest schema, as a number of its own: the hook knows it without carrying the migrations. A test holds them together. */
export const SCHEMA_VERSION = 18;
