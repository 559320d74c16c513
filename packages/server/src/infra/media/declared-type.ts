import { MIMEType } from 'node:util'

const maxTypeChars = 127
const charsetForm = /^[a-z0-9][a-z0-9._-]{0,39}$/i

// What programs send when they know nothing of the file.
const saysNothing =
  /^(application\/(octet-stream|x-www-form-urlencoded|x-download)|multipart\/.*|binary\/.*|.*\*.*)$/

const commonName = new Map([
  ['image/jpg', 'image/jpeg'],
  ['image/pjpeg', 'image/jpeg'],
  ['image/x-png', 'image/png'],
  ['image/apng', 'image/png'],
  ['image/x-ms-bmp', 'image/bmp'],
  ['image/x-bmp', 'image/bmp'],
  ['image/vnd.microsoft.icon', 'image/x-icon'],
  ['image/tif', 'image/tiff'],
  ['image/psd', 'image/vnd.adobe.photoshop'],
  ['image/x-psd', 'image/vnd.adobe.photoshop'],
  ['image/x-photoshop', 'image/vnd.adobe.photoshop'],
  ['application/x-pdf', 'application/pdf'],
  ['application/x-zip-compressed', 'application/zip'],
])

/** A declared media type: lower-case, without parameters. */
export interface DeclaredType {
  readonly essence: string
  /** Only of text. */
  readonly charset: string | undefined
}

/** Undefined for what is absent, malformed, or says nothing. */
export function readDeclaredType(header: string | undefined): DeclaredType | undefined {
  const type = parse(header)
  if (!type || type.essence.length > maxTypeChars || saysNothing.test(type.essence)) return undefined
  const charset = type.type === 'text' ? type.params.get('charset') : null
  return {
    essence: commonTypeName(type.essence),
    charset: charset && charsetForm.test(charset) ? charset.toLowerCase() : undefined,
  }
}

function parse(header: string | undefined): MIMEType | undefined {
  try {
    return header === undefined ? undefined : new MIMEType(header)
  } catch {
    return undefined
  }
}

/** The name under which a type is stored, of several that mean the same. */
export function commonTypeName(essence: string): string {
  return commonName.get(essence) ?? essence
}
