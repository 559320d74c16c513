import { mkdir, rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { brotliCompressSync, gzipSync } from 'node:zlib'

/** Writes a build of a web app with one script, `app-NAME.js`, as `packages/web` has it. */
export async function writeWebBuild(dist: string, name: string): Promise<void> {
  await rm(dist, { recursive: true, force: true })
  await mkdir(join(dist, 'assets'), { recursive: true })
  const put = async (path: string, text: string) => {
    await writeFile(join(dist, path), text)
    await writeFile(join(dist, `${path}.br`), brotliCompressSync(text))
    await writeFile(join(dist, `${path}.gz`), gzipSync(text))
  }
  await put('app.html', `<!doctype html><script type="module" src="/assets/web/app-${name}.js"></script>`)
  await put(`assets/app-${name}.js`, `export const build = '${name}'\n`)
  await writeFile(join(dist, 'assets/font-1.woff2'), Buffer.from([0x77, 0x4f, 0x46, 0x32]))
  await put('service-worker.js', '// nothing to do\n')
}
