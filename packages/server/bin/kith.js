#!/usr/bin/env node
import { enableCompileCache } from 'node:module'
import { fileURLToPath } from 'node:url'
import { setFlagsFromString } from 'node:v8'

// What a request leaves behind is a few kilobytes: a young generation of 8 MB instead of 16 costs no measurable rate and
// saves 30 MB at rest. Only before the heap has grown can it be told.
setFlagsFromString('--max-semi-space-size=8')
setFlagsFromString('--semi-space-growth-factor=1')

// Sources are TypeScript: with the cache they are stripped and compiled once per version, not once per start, and the
// compiler's memory is not needed at all. Where the folder cannot be written the program runs without it.
enableCompileCache(fileURLToPath(new URL('../../../node_modules/.cache/kith/compiled', import.meta.url)))

await import('../src/app/cli/main.ts')
