import { slimContracts } from '@kith/client/build'
import { defineConfig } from 'vite'
import { firstScreenGroups } from './build/first-screen.ts'
import { iconSprite } from './build/icon-sprite.ts'
import { layerOrder } from './build/layer-order.ts'

export default defineConfig({
  root: import.meta.dirname,
  base: '/assets/web/',
  oxc: { jsx: { runtime: 'automatic', importSource: 'preact' } },
  plugins: [slimContracts(), iconSprite(), layerOrder()],
  build: {
    target: 'es2023',
    outDir: 'dist',
    assetsDir: '',
    emptyOutDir: true,
    manifest: 'manifest.json',
    // The content security policy allows no data: in scripts and styles.
    assetsInlineLimit: 0,
    modulePreload: { polyfill: false },
    reportCompressedSize: false,
    rolldownOptions: {
      input: `${import.meta.dirname}/app.html`,
      output: { codeSplitting: { groups: firstScreenGroups() } },
    },
  },
})
