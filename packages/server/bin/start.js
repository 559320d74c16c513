import { enableCompileCache } from 'node:module'
import { fileURLToPath } from 'node:url'
import { setFlagsFromString } from 'node:v8'

// Loading the program fills a young generation that would then rest: one that does not grow saves 30 MB. `serve` lets it
// grow when the load comes.
setFlagsFromString('--semi-space-growth-factor=1')

// Sources are TypeScript: with the cache they are stripped and compiled once per version, not once per start, and the
// compiler's memory is not needed at all. Where the folder cannot be written the program runs without it.
enableCompileCache(fileURLToPath(new URL('../../../node_modules/.cache/kith/compiled', import.meta.url)))

await import('../src/app/cli/main.ts')
