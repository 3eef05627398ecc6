/** The package's version, put in by the build. */
declare const __VERSION__: string;

/** The text of the newest schema, put in by the build; see store/sqlite/schema.ts. */
declare const __SCHEMA_TEXT__: string;
