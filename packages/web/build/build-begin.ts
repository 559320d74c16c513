import { readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { build as viteBuild } from 'vite'

const web = join(import.meta.dirname, '..')
const name = /^begin-[\w-]+\.js$/

/** Builds the script that asks for what the first screen waits for, and puts it before all others into the document. */
export async function buildBegin(): Promise<void> {
  const built = await viteBuild({
    configFile: false,
    logLevel: 'warn',
    root: web,
    build: {
      target: 'es2023',
      outDir: 'dist',
      emptyOutDir: false,
      reportCompressedSize: false,
      rolldownOptions: {
        input: join(web, 'src/platform/begin.ts'),
        output: { format: 'iife', entryFileNames: 'begin-[hash].js' },
      },
    },
  })
  const outputs = 'output' in built ? built.output : []
  const file = outputs.find(({ fileName }) => name.test(fileName))?.fileName
  const document = join(web, 'dist/app.html')
  const html = await readFile(document, 'utf8')
  const script = `<script async src="/assets/web/${file}"></script>`
  await writeFile(
    document,
    html.replace(/(?=\n *<script)/, (space) => `${space}\n    ${script}`),
  )
}
