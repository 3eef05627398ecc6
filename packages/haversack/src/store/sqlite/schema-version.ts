/** The newest schema version, kept apart so the hook need not bundle the migrations. A test keeps the two in step. */
export const SCHEMA_VERSION = 23;
