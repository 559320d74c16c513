import { readFile } from 'node:fs/promises'
import { fileURLToPath, pathToFileURL } from 'node:url'
import { type GeneratedModule, generateModule, missingId, missingModule } from './generate-module.ts'

/** As much of a plugin of Vite, Rolldown and Rollup as this one is. */
export interface SlimContractsPlugin {
  readonly name: string
  readonly enforce: 'pre'
  /** Vite alone asks. A server that is bundled keeps its schemas. */
  applyToEnvironment(environment: { readonly config: { readonly consumer: string } }): boolean
  resolveId(id: string): string | undefined
  load(id: string): Promise<{ readonly code: string; readonly moduleSideEffects: boolean } | undefined>
  generateBundle(options: unknown, bundle: Readonly<Record<string, OutputFile>>): void
}

type OutputFile =
  | { readonly type: 'asset' }
  | {
      readonly type: 'chunk'
      /** By id. */
      readonly modules: Readonly<Record<string, { readonly renderedExports: readonly string[] }>>
    }

/** A plugin for browser builds with Vite, Rolldown or Rollup: of the contracts only what the client reads while it runs comes
 * into the bundle, and no schemas. A build that uses a schema, or a function that works with schemas, fails. */
export function slimContracts(): SlimContractsPlugin {
  const protocol = fileURLToPath(new URL('.', import.meta.resolve('@kith/protocol')))
  const generated = new Map<string, GeneratedModule>()
  return {
    name: 'kith:slim-contracts',
    enforce: 'pre',
    applyToEnvironment: ({ config }) => config.consumer === 'client',
    resolveId: (id) => (id === missingId ? id : undefined),
    async load(id) {
      if (id === missingId) return { code: missingModule, moduleSideEffects: false }
      if (!isBelow(protocol, id) || !importsTypeBox(await readFile(id, 'utf8'))) return undefined
      const module = generateModule(await import(pathToFileURL(id).href))
      generated.set(id, module)
      return { code: module.code, moduleSideEffects: false }
    },
    generateBundle(_, bundle) {
      const used = Object.values(bundle).flatMap((file) =>
        Object.entries(file.type === 'chunk' ? file.modules : {}).flatMap(([id, { renderedExports }]) =>
          renderedExports.filter((name) => generated.get(id)?.missing.has(name)),
        ),
      )
      if (used.length > 0) throw new Error(sentenceAbout(used))
    },
  }
}

function sentenceAbout(names: readonly string[]): string {
  return `The bundle uses ${names.toSorted().join(', ')} of @kith/protocol: schemas, or what works with them, which slimContracts() leaves out.`
}

/** Bundlers write `/` in paths on every system. */
function isBelow(folder: string, id: string): boolean {
  return id.replaceAll('\\', '/').startsWith(folder.replaceAll('\\', '/'))
}

function importsTypeBox(source: string): boolean {
  return /^import\s+(?!type\s)[^'"]*from 'typebox/m.test(source)
}
