import { useEffect, useState } from 'preact/hooks'

type QrCode = typeof import('./qr-code.tsx').QrCode

/** The code, whose making is loaded with the first of them. */
export function LoadedQrCode(props: Parameters<QrCode>[0]) {
  const [Code, setCode] = useState<QrCode>()
  useEffect(
    () =>
      void import('./qr-code.tsx').then(
        ({ QrCode: Loaded }) => setCode(() => Loaded),
        () => undefined,
      ),
    [],
  )
  return Code ? <Code {...props} /> : null
}
