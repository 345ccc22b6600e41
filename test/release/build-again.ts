// Builds the images of the API and of the workers in the cache that PLOSIVE_CACHE names. Called by release.test.ts inside a
// mount namespace, with an empty cache.
import { buildImages } from "../../tools/images/build.ts";
import { chartImages } from "../../tools/images/images.ts";

await buildImages([chartImages.server, chartImages.worker], (line) => console.log(line));
