/** One forwarder in a process of its own: sends the outbox of a store and brings its snapshot up to date. Says when it begins and ends. */
import { openTeamStore } from "../../packages/haversack/src/engine/team/team-store.ts";
import { readPlace } from "../../packages/haversack/src/store/postgres/place.ts";
import { openDatabase } from "../../packages/haversack/src/store/sqlite/open.ts";

const [file = "", url = ""] = process.argv.slice(2);
const handle = openDatabase(file, { durability: "full" });
const team = openTeamStore({ handle, place: readPlace(url) });
console.log("begins");
await team.catchUp({ isPatient: true });
console.log("done");
await team.close();
handle.db.close();
