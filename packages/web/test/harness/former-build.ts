import { cp, mkdir, readdir, readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'

const isText = (name: string) => /\.(html|js|css|svg|json)$/.test(name)
const isCompressed = (name: string) => /\.(br|gz)$/.test(name)

/** Writes the same app as another build: all of its files have other names. */
export async function writeFormerBuild(dist: string, to: string): Promise<void> {
  await mkdir(join(to, 'assets'), { recursive: true })
  const names = (await readdir(join(dist, 'assets'))).filter((name) => !isCompressed(name))
  const rename = (text: string) =>
    names.reduce((renamed, name) => renamed.replaceAll(name, formerName(name)), text)
  const copy = async (path: string, target: string) => {
    if (isText(path)) await writeFile(join(to, target), rename(await readFile(join(dist, path), 'utf8')))
    else await cp(join(dist, path), join(to, target))
  }
  for (const name of names) await copy(join('assets', name), join('assets', formerName(name)))
  for (const name of ['app.html', 'service-worker.js']) await copy(name, name)
}

function formerName(name: string): string {
  return name.replace(/\.(?=\w+$)/, '0.')
}
