declare module 'virtual:icon-sprite' {
  const address: string
  // biome-ignore lint/style/noDefaultExport: what Vite gives for an asset
  export default address
}
