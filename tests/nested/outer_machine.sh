#!/usr/bin/env bash
# Runs SCRIPT, a Python file in SHARE, as an ordinary user in an emulated machine that has KVM
# itself: QEMU emulates a processor with SVM, so that smolmachines boots for real where this machine
# has no usable /dev/kvm. It proves the code path, not speed.
#
#   outer_machine.sh PYTHON SMOL SHARE SCRIPT.py     exits with the script's code, 99 for none
#
# PYTHON: an interpreter; SMOL: the folder that holds the package `smol`; SHARE: a folder that the
# machine sees as /repo, read-only. W: a work folder; TIMEOUT: seconds for the machine. As root.
set -euo pipefail
PYTHON=$1; SP=$2; SHARE=$3; SCRIPT=$4; W=${W:-${TMPDIR:-/tmp}/drydock-nested}; MEM=${MEM:-4096}; SMP=${SMP:-2}
mkdir -p $W; cd $W; T0=$(date +%s); say() { echo "[ci_nested +$(($(date +%s)-T0))s] $*"; }
command -v qemu-system-x86_64 >/dev/null && command -v depmod >/dev/null && [ -x /bin/busybox ] || apt-get install -y -q --no-install-recommends qemu-system-x86 busybox-static kmod cpio e2fsprogs zstd >$W/apt.log 2>&1
say tools ready
PY=$($PYTHON -c 'import sys;print(sys.base_prefix)'); PV=$($PYTHON -c 'import sys;print("python%d.%d"%sys.version_info[:2])')
KP=$(apt-cache depends linux-image-amd64 | awk '/Depends: linux-image-/{print $2;exit}'); KV=${KP#linux-image-}
if [ ! -e k/boot/vmlinuz-$KV ]; then rm -rf k *.deb; apt-get download $KP >/dev/null 2>&1; dpkg -x $KP*.deb k; rm -f *.deb; [ -d k/lib/modules ] || { mkdir -p k/lib; mv k/usr/lib/modules k/lib/; }; depmod -b k $KV; fi
say kernel $KV
mods() { for m in "$@"; do modprobe -d $W/k -S $KV --show-depends $m 2>/dev/null | awk '/^insmod/{print $2}'; done | awk '!s[$0]++'; }
# --- initramfs
I=$W/ird; rm -rf $I; mkdir -p $I/{bin,dev,proc,sys,newroot,m}; cp /bin/busybox $I/bin/; for a in sh mount umount insmod switch_root poweroff sleep; do ln -s busybox $I/bin/$a; done
mods virtio_pci virtio_blk ext4 | while read f; do cp $f $I/m/; basename $f >> $I/m/order; done
cat > $I/init <<'E'
#!/bin/sh
mount -t proc p /proc; mount -t sysfs s /sys; mount -t devtmpfs d /dev
while read m; do insmod /m/$m 2>/dev/null; done < /m/order
i=0; while [ ! -b /dev/vda ] && [ $i -lt 100 ]; do sleep 0.1; i=$((i+1)); done
mount -t ext4 /dev/vda /newroot || { echo "NO ROOT"; poweroff -f; }
umount /proc /sys; exec switch_root /newroot /sbin/init
E
chmod +x $I/init; (cd $I; find . | cpio -o -H newc --quiet | gzip -1) > ird.img
# --- root file system
R=$W/root; rm -rf $R; mkdir -p $R/{bin,sbin,usr/bin,usr/sbin,lib64,lib/x86_64-linux-gnu,etc,proc,sys,dev,tmp,run,root,opt/sp,repo,out,data,home/app,lib/modules}; chmod 1777 $R/tmp
cp /bin/busybox $R/bin/; for a in $(/bin/busybox --list); do [ $a = busybox ] || ln -sf busybox $R/bin/$a; done
mkdir -p $R$PY/bin $R$PY/lib; cp -a $PY/bin/$PV $R$PY/bin/; cp -a $PY/lib/libpython*.so* $R$PY/lib/ 2>/dev/null || true; ln -sf $PY/bin/$PV $R/usr/bin/python3
(cd $PY/lib; tar c --exclude="$PV/test" --exclude="$PV/site-packages/*" --exclude="$PV/config-*" --exclude="$PV/idlelib" --exclude="$PV/ensurepip" --exclude='tkinter' $PV | tar x -C $R$PY/lib)
# smol: the *-template.ext4 files are made sparse on first use; make them here, where it is cheap
cp -a --sparse=always $SP/smol $R/opt/sp/; rm -rf $R/opt/sp/smol/integrations
for z in $R/opt/sp/smol/*-template.ext4.zst; do [ -e ${z%.zst} ] || zstd -q -d --sparse $z -o ${z%.zst} || true; done
need() { LD_LIBRARY_PATH=$SP/smol ldd "$1" 2>/dev/null | awk '/=> \//{print $3}'; }
{ for f in $PY/bin/$PV $PY/lib/$PV/lib-dynload/*.so $SP/smol/{_native.abi3.so,smol-vmm,libkrun.so} $(find $R/opt/sp -name '*.so' -not -path '*/smol/*'); do need $f; done; } | sort -u | grep -vE "^($SP|$R)" | while read l; do mkdir -p $R$(dirname $l); cp -nL $l $R$l; done
cp -L /lib64/ld-linux-x86-64.so.2 $R/lib64/; cp -L /lib/x86_64-linux-gnu/{libgcc_s.so.1,libnss_files.so.2,libresolv.so.2} $R/lib/x86_64-linux-gnu/ 2>/dev/null || true
printf 'root:x:0:0:root:/root:/bin/sh\napp:x:1000:1000::/home/app:/bin/sh\n' > $R/etc/passwd; printf 'root:x:0:\napp:x:1000:\n' > $R/etc/group; echo 'passwd: files' > $R/etc/nsswitch.conf; echo '127.0.0.1 localhost' > $R/etc/hosts
chown 1000:1000 $R/home/app $R/data; chmod 711 $R/root
$PYTHON -m compileall -q -j2 -s $R -p / --invalidation-mode unchecked-hash $R/opt/sp $R$PY/lib >/dev/null 2>&1 || true
mods kvm-amd 9p 9pnet_virtio virtio_rng tun vhost_vsock | while read f; do d=$R${f#$W/k}; mkdir -p $(dirname $d); cp $f $d; done; depmod -b $R $KV 2>/dev/null
cat > $R/sbin/init <<'E'
#!/bin/sh
export PATH=/bin:/sbin:/usr/bin:/usr/sbin
mount -t proc proc /proc; mount -t sysfs sys /sys; [ -c /dev/null ] || mount -t devtmpfs dev /dev
mkdir -p /dev/pts /dev/shm; mount -t devpts devpts /dev/pts; mount -t tmpfs -o mode=1777 shm /dev/shm; mount -t tmpfs run /run; mount -t cgroup2 cg /sys/fs/cgroup
ip link set lo up; hostname outer
for m in kvm-amd 9p 9pnet_virtio virtio_rng tun vhost_vsock; do modprobe $m; done; chmod 666 /dev/kvm
mount -t 9p -o trans=virtio,version=9p2000.L,ro,cache=loose,msize=262144 repo /repo; mount -t 9p -o trans=virtio,version=9p2000.L,msize=262144 out /out; chmod 1777 /out
S=$(tr ' ' '\n' </proc/cmdline | sed -n 's/^nest.script=//p')
echo "=== up $(cut -d' ' -f1 /proc/uptime)s, $(cat /sys/module/kvm_amd/parameters/npt) npt"
su app -c "HOME=/home/app PYTHONPATH=/opt/sp:/repo PYTHONUNBUFFERED=1 PYTHONDONTWRITEBYTECODE=1 /usr/bin/python3 $S"; rc=$?
echo $rc > /out/rc; echo "=== rc=$rc at $(cut -d' ' -f1 /proc/uptime)s"; sync; poweroff -f
E
chmod +x $R/sbin/init; rm -f root.ext4; truncate -s 8G root.ext4; mke2fs -q -t ext4 -O ^has_journal,^metadata_csum -m0 -d $R root.ext4
say "image built: $(du -h root.ext4 | cut -f1)"
rm -rf out; mkdir out
timeout ${TIMEOUT:-540} qemu-system-x86_64 -M q35 -accel tcg,thread=multi,tb-size=1024 -cpu EPYC-v1,+svm,+npt -smp $SMP -m $MEM -nodefaults -no-user-config -nic none -display none -no-reboot \
 -kernel k/boot/vmlinuz-$KV -initrd ird.img -append "console=ttyS0 loglevel=4 panic=-1 nokaslr mitigations=off tsc=reliable nest.script=/repo/$SCRIPT" \
 -drive file=root.ext4,format=raw,if=virtio,snapshot=on,cache=unsafe -virtfs local,path=$SHARE,mount_tag=repo,security_model=none,readonly=on -virtfs local,path=$W/out,mount_tag=out,security_model=none -serial stdio </dev/null 2>$W/qemu.err || true
say done; exit $(cat out/rc 2>/dev/null || echo 99)
