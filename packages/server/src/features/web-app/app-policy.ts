/** What the app's document may load and do. Scripts make no markup from text but through the two policies named here. */
export function appHeaders(serverUrl: string): Record<string, string> {
  const directives = {
    'default-src': "'none'",
    'script-src': "'self'",
    'style-src': "'self'",
    'img-src': "'self' blob: data:",
    'media-src': "'self' blob:",
    // Not every browser takes 'self' for WebSockets too.
    'connect-src': `'self' ${serverUrl.replace(/^http/, 'ws')}`,
    'frame-src': "'self'",
    'worker-src': "'self'",
    'manifest-src': "'self'",
    'base-uri': "'none'",
    'form-action': "'self'",
    'frame-ancestors': "'none'",
    'require-trusted-types-for': "'script'",
    'trusted-types': 'kith ProseMirrorClipboard',
  }
  return {
    'content-security-policy': Object.entries(directives)
      .map(([name, value]) => `${name} ${value}`)
      .join('; '),
    'cross-origin-opener-policy': 'same-origin',
    'permissions-policy': `camera=(self), ${withheld.map((feature) => `${feature}=()`).join(', ')}`,
    'referrer-policy': 'no-referrer',
  }
}

const withheld = [
  'accelerometer',
  'browsing-topics',
  'display-capture',
  'geolocation',
  'gyroscope',
  'hid',
  'magnetometer',
  'microphone',
  'midi',
  'payment',
  'serial',
  'usb',
  'xr-spatial-tracking',
]
