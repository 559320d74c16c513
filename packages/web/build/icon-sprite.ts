import { readFile } from 'node:fs/promises'
import { createRequire } from 'node:module'
import type { Plugin } from 'vite'
import { type IconName, iconNames } from '../src/ui/icon-names.ts'

const moduleId = 'virtual:icon-sprite'
const resolved = `\0${moduleId}`

/** One SVG file with the icons of the app, made of Lucide's, whose address is the export of `virtual:icon-sprite`. */
export function iconSprite(): Plugin {
  let isServing = false
  return {
    name: 'icon-sprite',
    configResolved({ command }) {
      isServing = command === 'serve'
    },
    resolveId: (id) => (id === moduleId ? resolved : undefined),
    async load(id) {
      if (id !== resolved) return undefined
      const source = await makeSprite()
      if (isServing)
        return `export default ${JSON.stringify(`data:image/svg+xml,${encodeURIComponent(source)}`)}`
      const reference = this.emitFile({ type: 'asset', name: 'icons.svg', source })
      return `export default import.meta.ROLLUP_FILE_URL_${reference}`
    },
  }
}

async function makeSprite(): Promise<string> {
  const symbols = await Promise.all(iconNames.map(readSymbol))
  return `<svg xmlns="http://www.w3.org/2000/svg">${symbols.join('')}</svg>`
}

async function readSymbol(name: IconName): Promise<string> {
  const file = createRequire(import.meta.url).resolve(`lucide-static/icons/${name}.svg`)
  const shapes = /<svg[^>]*>([\s\S]*)<\/svg>/.exec(await readFile(file, 'utf8'))?.[1]
  if (shapes === undefined) throw new Error(`${file} is no icon`)
  return `<symbol id="${name}" viewBox="0 0 24 24">${shapes.replaceAll(/\s+/g, ' ').trim()}</symbol>`
}
