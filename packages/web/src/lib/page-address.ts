interface Place {
  readonly protocol: string
  readonly hostname: string
  readonly port: string
}

/** The address of the public page of an identity. One of the same domain is taken to live where this app does: by the same scheme and port. */
export function pageAddress(idTag: string, { protocol, hostname, port }: Place): string {
  if (domainOf(idTag) !== domainOf(hostname)) return `https://${idTag}/`
  return `${protocol}//${idTag}${port === '' ? '' : `:${port}`}/`
}

function domainOf(name: string): string {
  const labels = name.split('.')
  return labels.at(-1) === 'localhost' ? 'localhost' : labels.slice(-2).join('.')
}
