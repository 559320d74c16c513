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
    'VipsForeignLoadTiff',
  ],
})
// A picture is read once, and many workers share the machine: neither a cache nor threads inside one operation help.
sharp.cache(false)
sharp.concurrency(1)

/** Reads JPEG, PNG, WebP, AVIF, GIF and TIFF, and nothing else; of HEIC what stands before its pixels. */
export const limitedSharp = sharp
