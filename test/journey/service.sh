#!/usr/bin/env bash
# systemd: this journey is played on a machine that it has started. The daemon as a service of a real systemd: from the
# first connection on, through a hang, a wrong configuration and an upgrade, until the purge.
. "$(dirname "$0")/steps.bash"
install_package

note "Ada's services run, as they do from her login on"
loginctl enable-linger ada
for _ in $(seq 600); do [ ! -S /run/user/1000/systemd/private ] || break; sleep 0.1; done
[ -S /run/user/1000/systemd/private ] || { systemctl --no-pager -l status user@1000.service || true; journalctl -q -n 40 --no-pager; exit 1; }
person_has XDG_RUNTIME_DIR=/run/user/1000
person_fails 1 mcpbx service status
expect "nobody listens for systemd"

note "she switches mcpbx on; systemd starts the daemon at the first connection"
as_person mcpbx service enable
expect "systemd listens for mcpbx now"
as_person mcpbx service status
expect "starts at the first connection"
as_person mcpbx call toolbox__calculate expression=2^10
expect 1024
as_person mcpbx service status
expect "runs, process"
as_person systemctl --user show mcpbx.service -p ActiveState -p Type -p Delegate -p NoNewPrivileges
expect ActiveState=active
expect Delegate=yes
as_person journalctl --user -q -u mcpbx.service -o cat -p info
expect "server toolbox is ready"

note "every night a question, by the timer of docs/cookbook.md"
as_person mkdir -p /home/ada/.config/systemd/user
as_person bash -c 'cat >~/.config/systemd/user/inbox.service <<"END"
[Service]
Type=oneshot
ExecStart=/bin/sh -c '"'exec mcpbx ask -m demo --approve none --status off \"What is 6 * 7?\" >>%h/inbox.log'"'
END
cat >~/.config/systemd/user/inbox.timer <<"END"
[Timer]
OnCalendar=*-*-* 03:15
Persistent=true

[Install]
WantedBy=timers.target
END'
as_person systemctl --user daemon-reload
as_person systemctl --user enable --now inbox.timer
as_person systemctl --user list-timers --no-pager inbox.timer
expect inbox.service
as_person systemctl --user start inbox.service
as_person cat /home/ada/inbox.log
expect "calculate: 42"

note "a tool server of npx, slow to start and below a folder that only her shell knows, and a secret that systemd keeps"
as_person mkdir -p -m 700 /home/ada/.secrets /home/ada/.local/bin /home/ada/.config/mcpbx
as_person bash -c 'printf "#!/bin/sh\nsleep 4\nexec mcpbx-toolbox\n" >~/.local/bin/npx && chmod +x ~/.local/bin/npx'
as_person bash -c 'echo sk-shore-2207 >~/.secrets/openai && chmod 600 ~/.secrets/openai'
as_person bash -c 'cat >~/.config/mcpbx/config.json <<"END"
{ "mcpServers": { "notes": { "command": "npx", "args": ["-y", "notes"] } },
  "models": { "work": { "api": "openai-chat", "model": "m", "baseUrl": "http://127.0.0.1:9/v1", "apiKey": "${cred:openai}" } } }
END'
person_has XDG_RUNTIME_DIR=/run/user/1000 PATH=/home/ada/.local/bin:/usr/local/bin:/usr/bin:/bin
as_person mcpbx service enable
expect "keeps the PATH it was started with"
as_person mkdir -p /home/ada/.config/systemd/user/mcpbx.service.d
as_person bash -c 'cat >~/.config/systemd/user/mcpbx.service.d/own.conf <<"END"
[Service]
LoadCredential=openai:%h/.secrets/openai
WatchdogSec=3
END'
as_person systemctl --user daemon-reload
as_person mcpbx stop
as_person mcpbx call notes__calculate expression=2^11
expect 2048
as_person mcpbx models
expect_not cred:openai
as_person bash -c 'mcpbx status --json; journalctl --user -q -u mcpbx.service -o cat; tr "\0" "\n" </proc/"$(systemctl --user show mcpbx.service -p MainPID --value)"/environ'
expect_not sk-shore-2207

note "a daemon that hangs is started anew"
as_person bash -c 'kill -STOP "$(systemctl --user show mcpbx.service -p MainPID --value)" &&
  for i in $(seq 100); do [ "$(systemctl --user show mcpbx.service -p NRestarts --value)" = 0 ] || break; sleep 0.1; done'
as_person mcpbx call notes__calculate expression=2^12
expect 4096
as_person bash -c 'systemctl --user show mcpbx.service -p NRestarts; journalctl --user -q -u mcpbx.service -o cat | grep -i watchdog'
expect NRestarts=1

note "an upgrade (here: the same version again) and a reload leave the daemon and its tool servers alone"
as_person bash -c 'mcpbx status --json | grep -o "\"pid\":[0-9]*" | tee ~/pid'
step bash -c 'apt-get install -y -q --reinstall /journey/mcpbx_*.deb | grep "Setting up mcpbx"'
as_person systemctl --user daemon-reload
as_person systemctl --user reload mcpbx.service
as_person bash -c 'mcpbx status --json | grep -o "\"pid\":[0-9]*" | diff - ~/pid && echo "the same daemon"'
expect "the same daemon"

note "a wrong configuration changes nothing; at the next start callers are told, and once it is mended all is well"
as_person bash -c 'cp ~/.config/mcpbx/config.json ~/good.json && echo "{ \"models\": 7 }" >~/.config/mcpbx/config.json'
person_fails 1 systemctl --user reload mcpbx.service
as_person journalctl --user -q -u mcpbx.service -o cat -p warning -n 5
expect 'config.json:1:13: must be an object, not a number, in "models"'
as_person mcpbx call notes__calculate expression=2^13
expect 8192
as_person mcpbx stop
for _ in 1 2 3 4 5 6; do
  person_fails 3 mcpbx servers
  expect 'config.json:1:13: must be an object, not a number, in "models"'
done
as_person mcpbx service status
expect "systemd listens at"
expect "failed; \`journalctl"
as_person cp /home/ada/good.json /home/ada/.config/mcpbx/config.json
as_person mcpbx call notes__calculate expression=2^14
expect 16384
as_person mcpbx service status
expect "runs, process"

note "an account without a login"
as_person rm /home/ada/.config/mcpbx/config.json
step systemctl enable --now mcpbx@ada.socket
as_person env MCPBX_SOCKET=/run/mcpbx/ada/mcpbx.sock mcpbx call toolbox__calculate expression=2^15
expect 32768
step systemctl show mcpbx@ada.service -p ActiveState -p User -p ProtectSystem
expect ActiveState=active
step systemctl disable --now mcpbx@ada.socket mcpbx@ada.service

note "off again; the purge leaves only the files of the person"
as_person mcpbx service disable
expect "removed"
person_fails 1 mcpbx service status
as_person bash -c 'find ~/.config/systemd -type f -o -type l'
expect own.conf
expect_not path.conf
expect_not mcpbx.socket

note "the same from a folder with a strange name, as people unpack the tarball"
as_person bash -c 'mkdir "$HOME/my \$HOME 100%" && cp /usr/bin/mcpbx /usr/bin/mcpbxd /usr/bin/mcpbx-toolbox "$HOME/my \$HOME 100%/"'
step bash -c 'apt-get purge -y -q mcpbx | grep "Removing mcpbx"'
step bash -c 'find / -xdev -iname "*mcpbx*" -not -path "/proc/*" -not -path "/journey/*" -not -path "/var/cache/*" -not -path "/var/log/*" | sort'
expect_not /usr/
expect_not /etc/
as_person '/home/ada/my $HOME 100%/mcpbx' service enable
expect /home/ada/.config/systemd/user/mcpbx.service
as_person '/home/ada/my $HOME 100%/mcpbx' call toolbox__calculate expression=2^16
expect 65536
as_person '/home/ada/my $HOME 100%/mcpbx' service status
expect "runs, process"
as_person '/home/ada/my $HOME 100%/mcpbx' service disable
