// How the dashboard is built: `npm run build:web` writes web/dist, which the API serves (src/api).
import { readdirSync, readFileSync, writeFileSync } from "node:fs";
import { join, resolve } from "node:path";
import { brotliCompressSync, constants, gzipSync } from "node:zlib";
import { defineConfig, type Plugin } from "vite";

/** Writes a gzip and a brotli variant beside each text asset, so that the API compresses nothing. */
function compressed(): Plugin {
  let outDir = "";
  return {
    name: "compressed",
    apply: "build",
    configResolved({ root, build }) {
      outDir = resolve(root, build.outDir);
    },
    closeBundle() {
      const folder = join(outDir, "assets");
      for (const name of readdirSync(folder).filter((file) => /\.(js|css|svg)$/.test(file))) {
        const bytes = readFileSync(join(folder, name));
        writeFileSync(join(folder, `${name}.gz`), gzipSync(bytes, { level: 9 }));
        const params = { [constants.BROTLI_PARAM_QUALITY]: 11 };
        writeFileSync(join(folder, `${name}.br`), brotliCompressSync(bytes, { params }));
      }
    },
  };
}

/** Gives forms the schemas of their request bodies, so that bounds, defaults and help are those of the service. */
function requestSchemas(): Plugin {
  const name = "virtual:request-schemas";
  const description = join(import.meta.dirname, "../openapi.json");
  return {
    name: "request-schemas",
    resolveId: (id) => (id === name ? `\0${name}` : undefined),
    load(id) {
      if (id !== `\0${name}`) return undefined;
      this.addWatchFile(description);
      const { schemas } = JSON.parse(readFileSync(description, "utf8")).components;
      const properties = (schema: string) => JSON.stringify(schemas[schema].properties.config.properties);
      return [
        `export const trainingConfig = ${properties("CreateTrainingJob")};`,
        `export const inferenceConfig = ${properties("CreateInferenceJob")};`,
      ].join("\n");
    },
  };
}

export default defineConfig({
  root: import.meta.dirname,
  // Relative, because the dashboard works behind any path prefix.
  base: "./",
  publicDir: false,
  plugins: [requestSchemas(), compressed()],
  oxc: { jsx: { runtime: "automatic", importSource: "preact" } },
  worker: { format: "es" },
  build: {
    target: "es2023",
    // The tokens use light-dark().
    cssTarget: ["chrome123", "firefox120", "safari17.5"],
    // The polyfill would be an inline script, which the content security policy forbids.
    modulePreload: { polyfill: false },
    manifest: true,
    // Notices of the packages that are bundled; the API serves them beside the code.
    license: { fileName: "assets/licenses.md" },
    chunkSizeWarningLimit: 200,
  },
});
