import { readdir } from 'node:fs/promises'
import { join } from 'node:path'
import { build as viteBuild } from 'vite'

const web = join(import.meta.dirname, '..')

/** Builds the service worker into one file that knows the files of this build; `id` tells the build from all others. */
export async function buildWorker(id: string): Promise<void> {
  const names = await readdir(join(web, 'dist/assets'))
  const assets = names.filter((name) => /\.(js|css|svg)$/.test(name)).map((name) => `/assets/web/${name}`)
  await viteBuild({
    configFile: false,
    logLevel: 'warn',
    root: web,
    define: { thisBuild: JSON.stringify({ id, assets: assets.sort() }) },
    build: {
      target: 'es2023',
      outDir: 'dist',
      emptyOutDir: false,
      reportCompressedSize: false,
      rolldownOptions: {
        input: join(web, 'src/worker/service-worker.ts'),
        output: { format: 'iife', entryFileNames: 'service-worker.js' },
      },
    },
  })
}
