// Lists the components that a description names: node list-components.mjs FILE. A component is written in **bold**.
import { readFileSync } from "node:fs";

const text = readFileSync(process.argv[2], "utf8");
for (const name of new Set([...text.matchAll(/\*\*([^*]+)\*\*/g)].map(([, name]) => name))) console.log(name);
