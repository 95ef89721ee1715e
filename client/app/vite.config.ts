import { fileURLToPath } from "node:url";
import react from "@vitejs/plugin-react";
import { defineConfig } from "vite";

// `npx vite client/app` develops against a server that runs beside it.
const SERVER = "http://127.0.0.1:4000";

const here = (path: string) => fileURLToPath(new URL(path, import.meta.url));

export default defineConfig({
  // The page may be served under any path, so everything in it is addressed relative to it.
  base: "./",
  plugins: [react()],
  build: {
    outDir: here("../../dist/app"),
    emptyOutDir: true,
    target: "es2022",
    rolldownOptions: { input: ["index.html", "demo.html"].map((page) => here(page)) },
    // The editor with its grammars is one part, which is loaded when the page is already there.
    chunkSizeWarningLimit: 800,
  },
  server: { proxy: { "/v1": { target: SERVER, ws: true } } },
});
