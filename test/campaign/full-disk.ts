/** `node full-disk.ts FOLDER SEED COUNT`, started by the campaign inside of a name space with a small file system at FOLDER. */
import { fillAndAsk } from "./faults.ts";
import { seeded } from "./random.ts";

const [folder = "", seed, count] = process.argv.slice(2);
console.log(JSON.stringify(fillAndAsk(seeded(Number(seed)), Number(count), folder)));
