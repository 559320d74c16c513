// The look that the web app of this address keeps on this device, before the page is painted.

try {
  const { theme = '', darkMode } = JSON.parse(localStorage.getItem('kith-look') ?? '{}')
  const named = theme.split(/\s+/).find((word) => word === 'light' || word === 'dark')
  document.documentElement.dataset.scheme = named ?? (darkMode === 'true' ? 'dark' : 'device')
} catch {
  // Without storage the page looks as the device does.
}
