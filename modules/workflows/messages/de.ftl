permission-Workflows-View = Sehen, wo Datensätze in ihrem Ablauf stehen
permission-Workflows-Act = Datensätze in ihrem Ablauf weiterbringen, soweit er es erlaubt
