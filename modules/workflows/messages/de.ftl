permission-Workflows-View = Sehen, wo Datensätze in ihrem Ablauf stehen
permission-Workflows-Act = Datensätze in ihrem Ablauf weiterbringen, soweit er es erlaubt
permission-Workflows-Reassign = Weitergeben, was auf andere wartet, und sagen, wer wen vertritt
permission-Workflows-Designer-Manage = Abläufe entwerfen und veröffentlichen, und Datensätze auf sie umstellen
