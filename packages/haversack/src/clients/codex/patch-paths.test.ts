import { expect, it } from "vitest";
import { patchPaths } from "./adapter.ts";

const PATCH = `*** Begin Patch
*** Add File: new.txt
+*** Add File: only text.txt
*** Update File: ./a/../src/b.ts
*** Move to: /elsewhere/c.ts
@@
-x
+y
*** Delete File: new.txt
*** End Patch`;

it("are the files of every header, once, and of a moved file both names", () => {
  expect(patchPaths(PATCH)).toEqual(["new.txt", "./a/../src/b.ts", "/elsewhere/c.ts"]);
});

it("are absolute from the folder of the call, each file under one name", () => {
  expect(patchPaths(PATCH, "/repo/sub")).toEqual(["/repo/sub/new.txt", "/repo/sub/src/b.ts", "/elsewhere/c.ts"]);
  expect(patchPaths("*** Add File: ../../../../x\r\n*** Add File: x/./y\r\n", "/r")).toEqual(["/x", "/r/x/y"]);
});
