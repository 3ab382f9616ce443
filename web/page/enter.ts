// Keeps the secret of this tab, and goes to the page. The address that took the code leaves the history.
const pass = document.querySelector<HTMLMetaElement>('meta[name="lorekeep-pass"]')?.content ?? '';
sessionStorage.setItem('lorekeep-pass', pass);
location.replace('/');
