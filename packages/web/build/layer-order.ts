import type { Plugin } from 'vite'

const order = '@layer base,elements,screens;'

/** Says the order of the layers at the beginning of every style sheet: the sheet that a page loads first decides it, and that
 * may be one that several screens share. */
export function layerOrder(): Plugin {
  return {
    name: 'layer-order',
    generateBundle: {
      order: 'post',
      handler(_, bundle) {
        for (const file of Object.values(bundle))
          if (file.type === 'asset' && file.fileName.endsWith('.css'))
            file.source = order + String(file.source)
      },
    },
  }
}
