"""What the page does besides what viser offers: a key that is no letter, files and folders that are dropped, no
shadows where the processor has to draw them, and arrow keys that move a slider without moving the camera, too."""

# An image that does not load runs a script, once for each page. Hotkeys are letters: "?" is taken for H. A file that is
# dropped goes the way of the upload button; a folder, or a robot or mesh with the files it needs, as one archive (tar).
PAGE_SCRIPT = """<img src="data:," alt="" style="display: none" onerror="
  if (!window.raisimPage) {
    window.raisimPage = true;
    const press = (key) => document.body.dispatchEvent(
      new KeyboardEvent('keydown', {key, code: 'Key' + key.toUpperCase(), bubbles: true}));
    const context = document.createElement('canvas').getContext('webgl2');
    const about = context && context.getExtension('WEBGL_debug_renderer_info');
    const drawer = about ? context.getParameter(about.UNMASKED_RENDERER_WEBGL) : '';
    if (context) context.getExtension('WEBGL_lose_context').loseContext();
    if (/swiftshader|llvmpipe|softpipe|software/i.test(drawer)) setTimeout(() => press('l'), 500);
    window.addEventListener('keydown', (event) => {
      const typing = /^(input|textarea|select)$/i.test(event.target.tagName || '');
      if (event.key === '?' && !typing) {
        press('h');
      }
      if (event.key === 'Escape') {  // the last button of every dialog closes it
        const buttons = document.querySelectorAll('[role=dialog] button');
        if (buttons.length) buttons[buttons.length - 1].click();
      }
    });
    document.body.addEventListener('keydown', (event) => {
      if (/^Arrow/.test(event.key) && event.target.closest('[role=slider], input')) event.stopPropagation();
    });
    const header = (path, size) => {
      const block = new Uint8Array(512), text = new TextEncoder();
      const bytes = text.encode(path);
      let cut = 0;  // what stands before it goes into the prefix
      while (bytes.length - cut > 100) {
        cut = bytes.indexOf(47, cut) + 1;
        if (cut === 0) throw new Error('too long: ' + path);
      }
      const put = (what, at) => block.set(typeof what === 'string' ? text.encode(what) : what, at);
      const octal = (value, digits) => value.toString(8).padStart(digits, '0');
      put(bytes.slice(cut), 0);
      put('0000644', 100); put('0000000', 108); put('0000000', 116);
      put(octal(size, 11), 124); put('00000000000', 136);
      put('        ', 148); put('0', 156); put('ustar', 257); put('00', 263);
      put(bytes.slice(0, Math.max(cut - 1, 0)), 345);
      put(octal(block.reduce((sum, one) => sum + one, 0), 6) + String.fromCharCode(0) + ' ', 148);
      return block;
    };
    const pack = (name, files) => {
      const parts = [];
      for (const [path, file] of files) {
        parts.push(header(path, file.size), file, new Uint8Array((512 - file.size % 512) % 512));
      }
      return new File([...parts, new Uint8Array(1024)], name + '.tar');
    };
    const inside = async (entry) => {
      if (entry.isFile) {
        return [[entry.fullPath.slice(1), await new Promise((done, fail) => entry.file(done, fail))]];
      }
      const reader = entry.createReader(), found = [];
      for (;;) {  // a reader gives a hundred entries at a time
        const some = await new Promise((done, fail) => reader.readEntries(done, fail));
        if (!some.length) return found;
        for (const one of some) if (!one.name.startsWith('.')) found.push(...await inside(one));
      }
    };
    const upload = async (file) => {
      let input = null;  // it is away while another file is on its way
      while (!(input = document.querySelector('input[type=file]'))) await new Promise((done) => setTimeout(done, 50));
      const one = new DataTransfer();
      one.items.add(file);
      input.files = one.files;
      input.dispatchEvent(new Event('change', {bubbles: true}));
    };
    window.addEventListener('dragover', (event) => event.preventDefault());
    window.addEventListener('drop', async (event) => {
      event.preventDefault();
      const files = [...event.dataTransfer.files];
      const entries = [...event.dataTransfer.items].map((one) => one.webkitGetAsEntry()).filter(Boolean);
      const folders = entries.filter((one) => one.isDirectory);
      for (const folder of folders) await upload(pack(folder.name, await inside(folder)));
      const plain = files.filter((one) => !folders.some((folder) => folder.name === one.name));
      if (plain.length > 1 && plain.some((one) => /[.](urdf|xacro|mtl|bin|png|jpe?g)$/i.test(one.name))) {
        await upload(pack('dropped', plain.map((one) => [one.name, one])));
      } else {
        for (const file of plain) await upload(file);
      }
    });
  }">"""
