import type { FileId } from '@kith/protocol'

const hostName = /^[a-z0-9_-]{1,63}(?:\.[a-z0-9_-]{1,63})*$/

/** The content security policy of a package's files on a host; undefined for hosts that no policy can name, such as IPv6
 * addresses. */
export function assetPolicy(host: string, fileId: FileId): string | undefined {
  if (!hostName.test(host)) return undefined
  // Without a scheme it is that of the page; a proxy in front may have another port.
  return sandboxPolicy(`${host}:*/api/files/${fileId}/content/`)
}

/** A sandbox without an origin, and no network but what begins with `own` (docs/protocol/apps.md, Sandbox). */
export function sandboxPolicy(own: string): string {
  return [
    'sandbox allow-scripts allow-forms',
    "default-src 'none'",
    `script-src ${own} 'wasm-unsafe-eval'`,
    `style-src ${own} 'unsafe-inline'`,
    `img-src ${own} data: blob:`,
    `font-src ${own} data:`,
    `media-src ${own} data: blob:`,
    `connect-src ${own}`,
    // A page without an origin can start workers from what it holds alone; they inherit this policy.
    'worker-src blob:',
    "form-action 'none'",
    "base-uri 'none'",
    "frame-ancestors 'self'",
    "webrtc 'block'",
  ].join('; ')
}

const withheld = [
  'accelerometer',
  'autoplay',
  'browsing-topics',
  'camera',
  'clipboard-read',
  'clipboard-write',
  'display-capture',
  'encrypted-media',
  'fullscreen',
  'gamepad',
  'geolocation',
  'gyroscope',
  'hid',
  'identity-credentials-get',
  'idle-detection',
  'local-fonts',
  'magnetometer',
  'microphone',
  'midi',
  'payment',
  'picture-in-picture',
  'publickey-credentials-create',
  'publickey-credentials-get',
  'screen-wake-lock',
  'serial',
  'storage-access',
  'sync-xhr',
  'usb',
  'window-management',
  'xr-spatial-tracking',
]

/** What every answer says to a browser, whatever the file. */
export const assetHeaders: Readonly<Record<string, string>> = {
  'cache-control': 'public, max-age=31536000, immutable',
  'permissions-policy': withheld.map((feature) => `${feature}=()`).join(', '),
  'referrer-policy': 'no-referrer',
  // Tabs get nothing of a package.
  vary: 'sec-fetch-dest',
  'x-dns-prefetch-control': 'off',
}
