import sharp from 'sharp'

// NOTE: loads the decoders; only the worker process may import this file.
sharp.block({ operation: ['VipsForeignLoad'] })
sharp.unblock({
  operation: [
    'VipsForeignLoadJpeg',
    'VipsForeignLoadPng',
    'VipsForeignLoadWebp',
    'VipsForeignLoadHeif',
    'VipsForeignLoadNsgif',
  ],
})
// A picture is read once, and many workers share the machine: neither a cache nor threads inside one operation help.
sharp.cache(false)
sharp.concurrency(1)

/** Reads JPEG, PNG, WebP, AVIF and GIF, and nothing else. */
export const limitedSharp = sharp
